/** The channel between a VM and its host: sessions on a byte pipe with a memory; docs/protocol.md, section 10. */
@NullMarked
package org.cloister.transport.channel;

import org.jspecify.annotations.NullMarked;
