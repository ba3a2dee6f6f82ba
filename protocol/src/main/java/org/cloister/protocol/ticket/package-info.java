/** What a project asks of a site's nodes, and what it is given (docs/protocol.md, section 13). */
@NullMarked
package org.cloister.protocol.ticket;

import org.jspecify.annotations.NullMarked;
