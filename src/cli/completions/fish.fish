
# What the repository has: branches, revisions or Applications.
function __git_hydrate_names
    switch $argv[1]
        case branches
            git for-each-ref --format='%(refname:lstrip=3)' refs/remotes 2>/dev/null
            git for-each-ref --format='%(refname:lstrip=2)' refs/heads 2>/dev/null
        case revisions
            echo HEAD
            git for-each-ref --format='%(refname:short)' refs/heads refs/remotes refs/tags 2>/dev/null
        case applications
            git-hydrate apps --offline 2>/dev/null | string match -rg '^  (\S+)  '
    end | sort -u
end

complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand diff check apps plan" -f -a "(__git_hydrate_names revisions)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand log verify" -f -a "(__git_hydrate_names branches)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand render" -f -a "(__git_hydrate_names applications)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand diff" -l against -x -a "(__git_hydrate_names revisions)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand log" -l environment -x -a "(__git_hydrate_names branches)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand log" -l application -x -a "(__git_hydrate_names applications)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand apps" -l show -x -a "(__git_hydrate_names applications)"
complete -c git-hydrate -n "__fish_git_hydrate_using_subcommand apps" -l made-by -x -a "(__git_hydrate_names applications)"
