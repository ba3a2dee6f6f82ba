/** The Global Slurm: submission, states and allocated nodes of global jobs. */
@NullMarked
package org.cloister.relay.slurm;

import org.jspecify.annotations.NullMarked;
