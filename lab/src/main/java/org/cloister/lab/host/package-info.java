/** agent-host in the lab: its parts without a relay, its steps without a Slurm, and what it is measured beside. */
@NullMarked
package org.cloister.lab.host;

import org.jspecify.annotations.NullMarked;
