/** What checks read of a machine: files and programs. */
@NullMarked
package org.cloister.preflight.machine;

import org.jspecify.annotations.NullMarked;
