/** An agent's link, its streams and message framing; certificate renewal on it. */
@NullMarked
package org.cloister.transport.link;

import org.jspecify.annotations.NullMarked;
