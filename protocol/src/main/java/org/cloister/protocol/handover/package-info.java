/** How a VM that has just booted becomes somebody: what its host says of it, and what it is told and handed in its first circuit. */
@NullMarked
package org.cloister.protocol.handover;

import org.jspecify.annotations.NullMarked;
