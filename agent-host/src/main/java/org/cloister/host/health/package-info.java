/** Whether this node takes jobs: drained in Global Slurm when the host is at fault, and resumed when it is clean again. */
@NullMarked
package org.cloister.host.health;

import org.jspecify.annotations.NullMarked;
