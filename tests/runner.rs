//! Every test that runs the product as a whole, in one binary: a module a topic.

mod applications;
mod completions;
mod config;
mod diff;
mod doctor;
mod explain;
mod faults;
mod guard;
mod helm;
mod incremental;
mod install;
mod install_sh;
mod isolation;
mod kustomize;
mod layers;
mod log;
mod plugin;
mod pre_push;
mod push;
mod readme;
mod remote;
mod render;
mod screen;
mod support;
mod verify;
mod yaml;
