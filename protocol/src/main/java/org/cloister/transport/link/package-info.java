/** Links between agents and the relay: HTTP/2 over TLS 1.3 with both sides authenticated; docs/protocol.md, sections 7 and 8. */
@NullMarked
package org.cloister.transport.link;

import org.jspecify.annotations.NullMarked;
