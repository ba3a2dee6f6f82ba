@NullMarked
package org.cloister.host.root;

import org.jspecify.annotations.NullMarked;
