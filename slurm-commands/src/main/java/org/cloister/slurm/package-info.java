/** Slurm through its own commands, for whoever drives one: runs them bounded, and reads what is the same in all of them. */
@NullMarked
package org.cloister.slurm;

import org.jspecify.annotations.NullMarked;
