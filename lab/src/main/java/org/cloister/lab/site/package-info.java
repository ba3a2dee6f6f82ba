/** A site at work in the lab: the relay before Global Slurm, agent-host on each host, and what can be seen of them from outside. */
@NullMarked
package org.cloister.lab.site;

import org.jspecify.annotations.NullMarked;
