/** Provides checks with a machine's files and programs. */
@NullMarked
package org.cloister.preflight.machine;

import org.jspecify.annotations.NullMarked;
