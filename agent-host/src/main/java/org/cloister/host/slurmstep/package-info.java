/** Job steps of Slurm: their jobs, cgroups and allocated CPUs and memory. */
@NullMarked
package org.cloister.host.slurmstep;

import org.jspecify.annotations.NullMarked;
