/** Runs a program with limits of time and output. */
@NullMarked
package org.cloister.base.process;

import org.jspecify.annotations.NullMarked;
