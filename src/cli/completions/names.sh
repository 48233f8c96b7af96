
# What the repository has: branches, revisions or Applications.
__git_hydrate_names() {
    case $1 in
    branches) git for-each-ref --format='%(refname:lstrip=3)' refs/remotes; git for-each-ref --format='%(refname:lstrip=2)' refs/heads ;;
    revisions) echo HEAD; git for-each-ref --format='%(refname:short)' refs/heads refs/remotes refs/tags ;;
    applications) git-hydrate apps --offline | sed -n 's/^  \([^ ][^ ]*\)  .*/\1/p' ;;
    esac 2>/dev/null | sort -u
}
