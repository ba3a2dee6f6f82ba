/** Messages of the attach stream, limits and versions. */
@NullMarked
package org.cloister.protocol.link;

import org.jspecify.annotations.NullMarked;
