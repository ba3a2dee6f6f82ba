package org.cloister.vm.controller.admission;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.security.ProtectionDomain;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** Counts what objects of this package keep in collections, as far as they reach: what an admission has of its peers. */
public final class RetainedObjectCounter {
    private static final String OURS = RetainedObjectCounter.class.getPackageName() + ".";
    /** Of the admission and not of its tests. */
    private static final ProtectionDomain DOMAIN = WorkerAdmission.class.getProtectionDomain();

    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private long entries;

    private RetainedObjectCounter() {}

    /** Entries of all maps and collections that this object and those behind it have. */
    public static long by(Object root) throws IllegalAccessException {
        RetainedObjectCounter retained = new RetainedObjectCounter();
        retained.visit(root);
        return retained.entries;
    }

    private void visit(Object object) throws IllegalAccessException {
        if (object == null || !seen.add(object)) {
            return;
        }
        if (object instanceof Map<?, ?> map) {
            entries += map.size();
            for (Object each : Map.copyOf(map).values()) {
                visit(each);
            }
        } else if (object instanceof Collection<?> all) {
            entries += all.size();
            for (Object each : all.toArray()) {
                visit(each);
            }
        } else if (object.getClass().getName().startsWith(OURS)
                && object.getClass().getProtectionDomain().equals(DOMAIN)) {
            for (Field field : object.getClass().getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    visit(field.get(object));
                }
            }
        }
    }
}
