/** What is true of the whole cluster, shown on a lab; each class is tagged {@code scenario} and with its subject. */
@NullMarked
package org.cloister.lab.scenario;

import org.jspecify.annotations.NullMarked;
