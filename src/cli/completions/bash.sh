
# Adds the names that fit: `$cur` and `$prev` are set, `COMP_WORDS` begins with the command.
__git_hydrate_add_names() {
    local names= replaces=
    case $prev in
    --branch | --environment) names=branches replaces=1 ;;
    --against | --rev) names=revisions replaces=1 ;;
    --application | --show | --made-by) names=applications replaces=1 ;;
    *)
        [[ $cur = -* || $COMP_CWORD -lt 2 ]] && return
        case ${COMP_WORDS[1]} in
        diff | check | apps | plan) names=revisions ;;
        log | verify) names=branches ;;
        render) names=applications ;;
        *) return ;;
        esac
        ;;
    esac
    [[ $replaces ]] && COMPREPLY=()
    local IFS=$'\n'
    COMPREPLY+=($(compgen -W "$(__git_hydrate_names "$names")" -- "$cur"))
}

# git's completion calls this with `words` and `cword` set; an alias may stand in place of `hydrate`.
_git_hydrate() {
    local first=${__git_cmd_idx:-1}
    local COMP_WORDS=(__git_hydrate "${words[@]:first+1}") COMP_CWORD=$((cword - first))
    ___git_hydrate __git_hydrate "$cur" "$prev"
    __git_hydrate_add_names
}

__git_hydrate_alone() {
    local cur=$2 prev=$3
    COMP_WORDS[0]=__git_hydrate
    ___git_hydrate __git_hydrate "$cur" "$prev"
    __git_hydrate_add_names
}
complete -F __git_hydrate_alone -o bashdefault -o default git-hydrate
