/* Answers timing requests for CVODE with Adams methods and fixed-point iteration.
 *
 * Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
 * JSON object with the processor seconds of all repetitions and the final state of the last one.
 * Starting values, `name=value`, may follow, and the word `log`, which asks for one more run and the
 * configurations it passes. */
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

#define CARS 20
#define MOST_STATES (3 * CARS)
#define MOST_GAPS (4 * CARS + CARS * (CARS - 1) / 2)

/* What events are: gaps that close, and what happens to the states when they do. */
typedef struct {
    int count;
    CVRootFn gaps;
    void (*jump)(double *y, const int *closed);
} Events;

typedef struct {
    const char *name;
    int n;
    double t_end;
    CVRhsFn flow;
    double start[MOST_STATES];
    const Events *events;
    double absolute; /* absolute tolerance / relative tolerance; 0 stands for 1 */
    double max_step; /* 0 for none */
} Problem;

static double matrix[20][20];

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define FLOW(name)                                                          \
    static void name##_rates(const double *restrict y, double *restrict d); \
    static int name(double t, N_Vector y, N_Vector d, void *data) {         \
        (void)t, (void)data;                                                \
        name##_rates(N_VGetArrayPointer(y), N_VGetArrayPointer(d));         \
        return 0;                                                           \
    }                                                                       \
    static void name##_rates(const double *restrict y, double *restrict d)

FLOW(lorenz) {
    d[0] = 10 * (y[1] - y[0]);
    d[1] = y[0] * (28 - y[2]) - y[1];
    d[2] = y[0] * y[1] - 8.0 / 3.0 * y[2];
}

FLOW(vanderpol) {
    d[0] = y[1];
    d[1] = 5 * (1 - y[0] * y[0]) * y[1] - y[0];
}

FLOW(brusselator) {
    double r = y[0] * y[0] * y[1];
    d[0] = 1 + r - 4 * y[0];
    d[1] = 3 * y[0] - r;
}

static double inverse_cube(double x, double y) {
    double s = x * x + y * y;
    return 1 / (s * sqrt(s));
}

FLOW(figure_eight) {
    double x12 = y[2] - y[0], y12 = y[3] - y[1], k12 = inverse_cube(x12, y12);
    double x13 = y[4] - y[0], y13 = y[5] - y[1], k13 = inverse_cube(x13, y13);
    double x23 = y[4] - y[2], y23 = y[5] - y[3], k23 = inverse_cube(x23, y23);
    memcpy(d, y + 6, 6 * sizeof(double));
    d[6] = x12 * k12 + x13 * k13;
    d[7] = y12 * k12 + y13 * k13;
    d[8] = x23 * k23 - x12 * k12;
    d[9] = y23 * k23 - y12 * k12;
    d[10] = -x13 * k13 - x23 * k23;
    d[11] = -y13 * k13 - y23 * k23;
}

FLOW(linear) {
    for (int i = 0; i < 20; i++) {
        double s = 0;
        for (int j = 0; j < 20; j++) s += matrix[i][j] * y[j];
        d[i] = s;
    }
}

FLOW(ball) {
    d[0] = y[1];
    d[1] = -9.81;
}

static int floor_gap(double t, N_Vector y, double *g, void *data) {
    (void)t, (void)data;
    g[0] = N_VGetArrayPointer(y)[0];
    return 0;
}

static void bounce(double *y, const int *closed) {
    (void)closed;
    y[0] = 0;
    y[1] *= -0.8;
}

static const Events floor_events = {1, floor_gap, bounce};

/* Cars: places x and y and headings are states, speeds and turn rates change at events alone. */
static double speed[CARS], turn[CARS];

FLOW(cars) {
    for (int i = 0; i < CARS; i++) {
        d[i] = speed[i] * cos(y[2 * CARS + i]);
        d[CARS + i] = speed[i] * sin(y[2 * CARS + i]);
        d[2 * CARS + i] = turn[i];
    }
}

/* Gaps to the four walls of each car, then those of all pairs. */
static int car_gaps(double t, N_Vector state, double *g, void *data) {
    (void)t, (void)data;
    const double box = 10, radius = 0.1, *x = N_VGetArrayPointer(state), *y = x + CARS;
    for (int i = 0; i < CARS; i++) {
        *g++ = x[i] - radius;
        *g++ = box - radius - x[i];
        *g++ = y[i] - radius;
        *g++ = box - radius - y[i];
    }
    for (int i = 0; i < CARS; i++)
        for (int j = i + 1; j < CARS; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j];
            *g++ = dx * dx + dy * dy - 4 * radius * radius;
        }
    return 0;
}

/* Sends a car off with a velocity, turning the other way. */
static void drive(double *heading, int i, double vx, double vy) {
    speed[i] = hypot(vx, vy);
    heading[i] = atan2(vy, vx);
    turn[i] = -turn[i];
}

static void collide(double *state, const int *closed) {
    const double e = 0.9, *x = state, *y = state + CARS;
    double *heading = state + 2 * CARS;
    for (int i = 0; i < CARS; i++, closed += 4) {
        double vx = speed[i] * cos(heading[i]), vy = speed[i] * sin(heading[i]);
        if (closed[0] || closed[1]) drive(heading, i, -e * vx, vy);
        if (closed[2] || closed[3]) drive(heading, i, vx, -e * vy);
    }
    for (int i = 0; i < CARS; i++)
        for (int j = i + 1; j < CARS; j++) {
            if (!*closed++) continue;
            double ux = speed[i] * cos(heading[i]), uy = speed[i] * sin(heading[i]);
            double vx = speed[j] * cos(heading[j]), vy = speed[j] * sin(heading[j]);
            double dx = x[j] - x[i], dy = y[j] - y[i];
            double share = (1 + e) / 2 * ((ux - vx) * dx + (uy - vy) * dy) / (dx * dx + dy * dy);
            drive(heading, i, ux - share * dx, uy - share * dy);
            drive(heading, j, vx + share * dx, vy + share * dy);
        }
}

static const Events car_events = {MOST_GAPS, car_gaps, collide};

static Problem problems[] = {
    {"lorenz", 3, 10, lorenz, {1, 1, 1}},
    {"vanderpol", 2, 40, vanderpol, {2, 0}},
    {"brusselator", 2, 20, brusselator, {1.5, 3}},
    {"figure_eight", 12, 20, figure_eight,
     {0.97000436, -0.24308753, -0.97000436, 0.24308753, 0, 0, 0.46620368, 0.43236573, 0.46620368, 0.43236573,
      -0.93240737, -0.86473146}},
    {"linear", 20, 20, linear, {0}},
    {"ball", 2, 12, ball, {10, 0}, &floor_events, 1e-3},
    {"cars", 3 * CARS, 100, cars, {0}, &car_events, 1e-2},
    {"cars:short", 3 * CARS, 100, cars, {0}, &car_events, 1e-2, 0.05},
};

/* Starting values of a request; those of the problem where it has none. */
typedef struct {
    double states[MOST_STATES], speed[CARS], turn[CARS];
} Start;

/* The problem and tolerance in force, with a solver that is started again for each run. */
typedef struct {
    const Problem *problem;
    double tolerance;
    SUNContext context;
    void *memory;
    N_Vector y;
    SUNNonlinearSolver iteration;
    double compile;
} Solver;

static void quiet(int code, const char *module, const char *function, char *text, void *data) {
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

static void release(Solver *s) {
    if (!s->problem) return;
    CVodeFree(&s->memory);
    SUNNonlinSolFree(s->iteration);
    N_VDestroy(s->y);
    SUNContext_Free(&s->context);
    s->problem = NULL;
}

static void prepare(Solver *s, const Problem *p, double tolerance) {
    double started = seconds();
    release(s);
    SUNContext_Create(NULL, &s->context);
    s->y = N_VNew_Serial(p->n, s->context);
    s->memory = CVodeCreate(CV_ADAMS, s->context);
    memcpy(N_VGetArrayPointer(s->y), p->start, (size_t)p->n * sizeof(double));
    CVodeInit(s->memory, p->flow, 0, s->y);
    CVodeSStolerances(s->memory, tolerance, p->absolute ? p->absolute * tolerance : tolerance);
    CVodeSetErrHandlerFn(s->memory, quiet, NULL);
    CVodeSetMaxNumSteps(s->memory, 10000000);
    s->iteration = SUNNonlinSol_FixedPoint(s->y, 0, s->context);
    CVodeSetNonlinearSolver(s->memory, s->iteration);
    if (p->max_step) CVodeSetMaxStep(s->memory, p->max_step);
    if (p->events) {
        int falling[MOST_GAPS];
        for (int i = 0; i < p->events->count; i++) falling[i] = -1;
        CVodeRootInit(s->memory, p->events->count, p->events->gaps);
        CVodeSetRootDirection(s->memory, falling);
    }
    s->problem = p;
    s->tolerance = tolerance;
    s->compile = seconds() - started;
}

static void print_array(const double *first, int n, const double *second, int m) {
    printf("[");
    for (int i = 0; i < n + m; i++) printf("%s%.17e", i ? "," : "", i < n ? first[i] : second[i - n]);
    printf("]");
}

/* A line of the log: time, states, and what changes at events alone. */
static void note(double t, const double *y, const Problem *p) {
    printf("%s[%.17e,", t > 0 ? "," : "", t);
    print_array(y, p->n, NULL, 0);
    printf(",");
    print_array(speed, CARS, turn, CARS);
    printf("]");
}

/* One run; false if the solver gave up. */
static int run(Solver *s, const Start *start, int is_logged, long *steps, int *events) {
    const Problem *p = s->problem;
    double t = 0, *y = N_VGetArrayPointer(s->y);
    long count = 0;
    int closed[MOST_GAPS];
    *steps = 0, *events = 0;
    memcpy(y, start->states, (size_t)p->n * sizeof(double));
    memcpy(speed, start->speed, sizeof speed);
    memcpy(turn, start->turn, sizeof turn);
    if (is_logged) note(0, y, p);
    CVodeReInit(s->memory, 0, s->y);
    CVodeSetStopTime(s->memory, p->t_end);
    for (;;) {
        int flag = CVode(s->memory, p->t_end, s->y, &t, CV_NORMAL);
        if (flag < 0) return 0;
        CVodeGetNumSteps(s->memory, &count);
        *steps += count;
        if (is_logged && flag != CV_ROOT_RETURN) note(t, y, p);
        if (flag != CV_ROOT_RETURN) return 1;
        CVodeGetRootInfo(s->memory, closed);
        p->events->jump(y, closed);
        if (is_logged) note(t, y, p);
        if (++*events > 1000) return 0;
        CVodeReInit(s->memory, t, s->y);
        CVodeSetStopTime(s->memory, p->t_end);
    }
}

static const Problem *find(const char *name) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (!strcmp(problems[i].name, name)) return &problems[i];
    return NULL;
}

/* Reads words `name[i]=value` into the start of cars; true if `log` is among the words. */
static int read_words(char *words, Start *start) {
    int is_logged = 0;
    for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n")) {
        char name[8];
        int i;
        double value;
        if (!strcmp(word, "log")) is_logged = 1;
        if (sscanf(word, "%7[a-z][%d]=%lf", name, &i, &value) != 3 || i < 1 || i > CARS) continue;
        if (!strcmp(name, "x")) start->states[i - 1] = value;
        if (!strcmp(name, "y")) start->states[CARS + i - 1] = value;
        if (!strcmp(name, "th")) start->states[2 * CARS + i - 1] = value;
        if (!strcmp(name, "v")) start->speed[i - 1] = value;
        if (!strcmp(name, "w")) start->turn[i - 1] = value;
    }
    return is_logged;
}

static void answer(Solver *s, const char *name, double tolerance, int repeat, char *words) {
    const Problem *p = find(name);
    if (!p) {
        printf("{\"error\":\"unknown problem\"}\n");
        return;
    }
    if (s->problem != p || s->tolerance != tolerance) prepare(s, p, tolerance);
    Start start = {0};
    memcpy(start.states, p->start, sizeof p->start);
    int is_logged = read_words(words, &start);
    long steps = 0;
    int events = 0, good = 1;
    double started = seconds();
    for (int i = 0; i < repeat && good; i++) good = run(s, &start, 0, &steps, &events);
    double cpu = seconds() - started;
    if (!good) {
        printf("{\"error\":\"the solver gave up\"}\n");
        return;
    }
    printf("{\"cpu\":%.6e,\"repeat\":%d,\"compile\":%.3e,\"steps\":%ld,\"events\":%d,\"y\":", cpu, repeat,
           s->compile, steps, events);
    print_array(N_VGetArrayPointer(s->y), p->n, NULL, 0);
    if (is_logged) {
        printf(",\"log\":[");
        run(s, &start, 1, &steps, &events);
        printf("]");
    }
    printf("}\n");
}

int main(void) {
    Solver solver = {0};
    char line[1 << 14], name[64];
    double tolerance;
    int repeat, words;
    for (int i = 0; i < 20; i++) {
        problems[4].start[i] = 1.0 / (i + 1);
        for (int j = 0; j < 20; j++)
            matrix[i][j] = ((7 * (i + 1) + 13 * (j + 1)) % 19 - (7 * (j + 1) + 13 * (i + 1)) % 19) / 20.0;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%63s %lf %d%n", name, &tolerance, &repeat, &words) == 3)
            answer(&solver, name, tolerance, repeat, line + words);
        fflush(stdout);
    }
    release(&solver);
    return 0;
}
