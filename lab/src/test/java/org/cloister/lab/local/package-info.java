@NullMarked
package org.cloister.lab.local;

import org.jspecify.annotations.NullMarked;
