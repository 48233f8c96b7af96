
__git_hydrate_branches() {
    local -a names=("${(@f)$(__git_hydrate_names branches)}")
    compadd -a names
}

__git_hydrate_revisions() {
    local -a names=("${(@f)$(__git_hydrate_names revisions)}")
    compadd -a names
}

__git_hydrate_applications() {
    local -a names=("${(@f)$(__git_hydrate_names applications)}")
    compadd -a names
}

