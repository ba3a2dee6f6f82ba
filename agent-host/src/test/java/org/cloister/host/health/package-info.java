@NullMarked
package org.cloister.host.health;

import org.jspecify.annotations.NullMarked;
