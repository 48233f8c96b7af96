//! Every test that runs the product as a whole, in one binary: a module a topic.

mod layers;
mod plugin;
