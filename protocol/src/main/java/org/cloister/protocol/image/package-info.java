/** What the parts of Cloister say to each other and the formats they sign; no daemon code, no I/O beyond reading a file. */
@NullMarked
package org.cloister.protocol.image;

import org.jspecify.annotations.NullMarked;
