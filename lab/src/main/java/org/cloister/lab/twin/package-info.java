/** The bare twin of a project. */
@NullMarked
package org.cloister.lab.twin;

import org.jspecify.annotations.NullMarked;
