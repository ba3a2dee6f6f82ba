/** Global Slurm as the relay uses it: resources and ticket ids go there, states and nodes come back. */
@NullMarked
package org.cloister.relay.slurm;

import org.jspecify.annotations.NullMarked;
