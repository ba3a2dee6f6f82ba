/** The terms of a circuit and why it closes. */
@NullMarked
package org.cloister.protocol.circuit;

import org.jspecify.annotations.NullMarked;
