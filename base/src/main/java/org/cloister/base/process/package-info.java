/** Runs a program with limits of time and output; nft. */
@NullMarked
package org.cloister.base.process;

import org.jspecify.annotations.NullMarked;
