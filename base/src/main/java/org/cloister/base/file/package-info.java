/** Files that are replaced as a whole. */
@NullMarked
package org.cloister.base.file;

import org.jspecify.annotations.NullMarked;
