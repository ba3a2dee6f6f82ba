@NullMarked
package org.cloister.host.daemon;

import org.jspecify.annotations.NullMarked;
