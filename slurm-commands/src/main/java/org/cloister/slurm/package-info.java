/** Runs Slurm's commands with limits and reads their output. */
@NullMarked
package org.cloister.slurm;

import org.jspecify.annotations.NullMarked;
