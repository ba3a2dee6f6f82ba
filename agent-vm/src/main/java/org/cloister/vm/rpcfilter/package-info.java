/**
 * The filter before slurmctld: a process of its own that takes workers' connections, reads the header of each message, and
 * passes on the types that slurmd, steps and users' commands in jobs need. It uses nothing but Java's own classes.
 */
@NullMarked
package org.cloister.vm.rpcfilter;

import org.jspecify.annotations.NullMarked;
