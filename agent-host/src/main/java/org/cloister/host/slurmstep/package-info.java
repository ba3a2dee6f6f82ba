/** The Slurm job step that a VM belongs to: whose call it is, what was allocated, and QEMU's place in it. */
@NullMarked
package org.cloister.host.slurmstep;

import org.jspecify.annotations.NullMarked;
