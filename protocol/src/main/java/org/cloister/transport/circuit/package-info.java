/** Circuits: TLS between two ends of one project, through a relay that cannot read it; docs/protocol.md, section 9. */
@NullMarked
package org.cloister.transport.circuit;

import org.jspecify.annotations.NullMarked;
