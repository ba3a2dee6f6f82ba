/** Both ends of a circuit, and the splice. */
@NullMarked
package org.cloister.transport.circuit;

import org.jspecify.annotations.NullMarked;
