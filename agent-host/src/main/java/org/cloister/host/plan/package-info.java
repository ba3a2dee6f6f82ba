/** What a VM of a ticket or an opening is to be on this host: decided whole, from what was signed and what Slurm gave, before any of it is made. */
@NullMarked
package org.cloister.host.plan;

import org.jspecify.annotations.NullMarked;
