/** Drains and resumes the host's Slurm node. */
@NullMarked
package org.cloister.host.health;

import org.jspecify.annotations.NullMarked;
