/** Programs and fixtures on the lab's hosts. */
@NullMarked
package org.cloister.lab.host;

import org.jspecify.annotations.NullMarked;
