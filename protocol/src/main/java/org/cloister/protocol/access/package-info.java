/** How persons come to their controlling VM; docs/protocol.md, section 9, "Persons". */
@NullMarked
package org.cloister.protocol.access;

import org.jspecify.annotations.NullMarked;
