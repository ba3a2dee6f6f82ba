package org.cloister.lab.documents;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;

/**
 * Fields of a module's classes that can grow: collections, queues, buffers and the threads that a class makes for itself. Left
 * out are constants, components of records, what picocli fills from the command line, and fields whose every value is an
 * immutable copy or has an enum's values for keys.
 */
final class GrowingFields {
    private static final Set<String> COLLECTIONS = Set.of(
            "Map",
            "Set",
            "List",
            "Deque",
            "Queue",
            "Collection",
            "SortedMap",
            "NavigableMap",
            "SortedSet",
            "NavigableSet",
            "HashMap",
            "LinkedHashMap",
            "TreeMap",
            "HashSet",
            "LinkedHashSet",
            "TreeSet",
            "ArrayList",
            "LinkedList",
            "ArrayDeque",
            "PriorityQueue",
            "BlockingQueue",
            "BlockingDeque",
            "LinkedBlockingQueue",
            "LinkedBlockingDeque",
            "ArrayBlockingQueue",
            "PriorityBlockingQueue",
            "DelayQueue",
            "LinkedTransferQueue",
            "ConcurrentHashMap",
            "ConcurrentMap",
            "ConcurrentSkipListMap",
            "ConcurrentSkipListSet",
            "ConcurrentLinkedQueue",
            "ConcurrentLinkedDeque",
            "CopyOnWriteArrayList",
            "CopyOnWriteArraySet",
            "WeakHashMap",
            "IdentityHashMap",
            "Vector",
            "Hashtable",
            "Stack",
            "StringBuilder",
            "StringBuffer",
            "ByteArrayOutputStream",
            "ByteBuf",
            "BitSet");
    private static final Set<String> THREADS = Set.of(
            "Executor",
            "ExecutorService",
            "ScheduledExecutorService",
            "ThreadPoolExecutor",
            "ScheduledThreadPoolExecutor",
            "ForkJoinPool",
            "EventExecutor",
            "EventExecutorGroup",
            "EventLoopGroup",
            "Timer");
    private static final Set<String> COPIES = Set.of("copyOf", "of", "toList", "emptyList", "emptyMap", "emptySet");
    private static final Set<String> ARGUMENTS = Set.of("Option", "Parameters");
    private static final Set<String> BY_ENUM = Set.of("EnumMap", "EnumSet");

    private GrowingFields() {}

    /** As {@code Class#field}, of all sources below the folder. */
    static Set<String> in(Path sources) throws IOException {
        Set<String> found = new TreeSet<>();
        ParsedSources.below(sources).units().forEach(unit -> new Classes().scan(unit, found));
        return found;
    }

    private static final class Classes extends TreeScanner<Void, Set<String>> {
        @Override
        public Void visitClass(ClassTree type, Set<String> found) {
            if (type.getKind() != Tree.Kind.RECORD && type.getKind() != Tree.Kind.INTERFACE) {
                for (Tree member : type.getMembers()) {
                    if (member instanceof VariableTree field
                            && !field.getModifiers().getFlags().contains(Modifier.STATIC)
                            && field.getModifiers().getAnnotations().stream()
                                    .noneMatch(each -> ARGUMENTS.contains(simple(each.getAnnotationType())))
                            && grows(type, field)) {
                        found.add(type.getSimpleName() + "#" + field.getName());
                    }
                }
            }
            return super.visitClass(type, found);
        }
    }

    private static boolean grows(ClassTree type, VariableTree field) {
        String of = simple(field.getType());
        List<ExpressionTree> values = values(type, field);
        if (THREADS.contains(of)) {
            return values.stream().anyMatch(GrowingFields::makesThreads);
        }
        if (!COLLECTIONS.contains(of)) {
            return false;
        }
        return values.isEmpty() || !values.stream().allMatch(GrowingFields::isBounded);
    }

    private static List<ExpressionTree> values(ClassTree type, VariableTree field) {
        List<ExpressionTree> values = new ArrayList<>();
        Optional.ofNullable(field.getInitializer()).ifPresent(values::add);
        new TreeScanner<Void, List<ExpressionTree>>() {
            @Override
            public Void visitAssignment(AssignmentTree assignment, List<ExpressionTree> assigned) {
                String to = assignment.getVariable().toString();
                String name = field.getName().toString();
                if (to.equals(name) || to.equals("this." + name)) {
                    assigned.add(assignment.getExpression());
                }
                return super.visitAssignment(assignment, assigned);
            }
        }.scan(type, values);
        return values;
    }

    /** Of a value that was copied, is empty or constant, or has an enum's values for keys. */
    private static boolean isBounded(ExpressionTree value) {
        if (value instanceof ConditionalExpressionTree choice) {
            return isBounded(choice.getTrueExpression()) && isBounded(choice.getFalseExpression());
        }
        if (value instanceof NewClassTree made) {
            return BY_ENUM.contains(simple(made.getIdentifier()));
        }
        if (value instanceof MethodInvocationTree call && call.getMethodSelect() instanceof MemberSelectTree method) {
            String on = method.getExpression() instanceof IdentifierTree name ? name.toString() : "";
            String called = method.getIdentifier().toString();
            return BY_ENUM.contains(on) || COPIES.contains(called) || called.startsWith("unmodifiable");
        }
        return false;
    }

    private static boolean makesThreads(ExpressionTree value) {
        return value instanceof NewClassTree
                || (value instanceof MethodInvocationTree call
                        && (call.getMethodSelect().toString().startsWith("Executors.")
                                || call.getMethodSelect().toString().endsWith(".next")));
    }

    private static String simple(Tree type) {
        Tree bare = type instanceof ParameterizedTypeTree of ? of.getType() : type;
        String text = bare.toString();
        return text.substring(text.lastIndexOf('.') + 1).replaceAll("^.*\\s", "");
    }
}
