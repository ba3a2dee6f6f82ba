/** What became of a ticket, for who asks later, without anybody's help (docs/protocol.md, section 15). */
@NullMarked
package org.cloister.protocol.receipt;

import org.jspecify.annotations.NullMarked;
