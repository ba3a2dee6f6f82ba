/** Files that are replaced as a whole, and locks of files. */
@NullMarked
package org.cloister.base.file;

import org.jspecify.annotations.NullMarked;
