@NullMarked
package org.cloister.host.machine;

import org.jspecify.annotations.NullMarked;
