/** Who is who: names, and the small authorities that certify them (RFC 5280). */
@NullMarked
package org.cloister.protocol.identity;

import org.jspecify.annotations.NullMarked;
