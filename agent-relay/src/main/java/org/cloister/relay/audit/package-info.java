/** The relay's audit log: appends to the chain of docs/protocol.md, section 14, and never acknowledges what is not on disk. */
@NullMarked
package org.cloister.relay.audit;

import org.jspecify.annotations.NullMarked;
