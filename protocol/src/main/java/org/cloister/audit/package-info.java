/** Writes an audit log, a relay's or a project's: appends to the chain of docs/protocol.md, section 14, and never acknowledges what is not on disk. */
@NullMarked
package org.cloister.audit;

import org.jspecify.annotations.NullMarked;
