/** The manifest of a guest image. */
@NullMarked
package org.cloister.protocol.image;

import org.jspecify.annotations.NullMarked;
