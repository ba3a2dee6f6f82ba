/** {@code agentctl project circuit}: standard input and output through a circuit. */
@NullMarked
package org.cloister.ctl.circuit;

import org.jspecify.annotations.NullMarked;
