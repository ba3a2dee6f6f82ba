/**
 * A whole cluster on one machine: a site with a Global Slurm and compute hosts with Open vSwitch and libvirt, each a
 * bundle of namespaces. Start with {@link org.cloister.lab.Lab}; scenarios are JUnit tests on it.
 */
@NullMarked
package org.cloister.lab.bench;

import org.jspecify.annotations.NullMarked;
