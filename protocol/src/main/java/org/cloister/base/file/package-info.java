/** Who is who: names, and the small authorities that certify them (RFC 5280). */
@NullMarked
package org.cloister.base.file;

import org.jspecify.annotations.NullMarked;
