/* Answers timing requests for CVODE with Adams methods and fixed-point iteration.
 *
 * Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
 * JSON object with the processor seconds of all repetitions and the final state of the last one. */
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

#define MOST 20

typedef struct {
    const char *name;
    int n;
    double t_end;
    CVRhsFn flow;
    double start[MOST];
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

static Problem problems[] = {
    {"lorenz", 3, 10, lorenz, {1, 1, 1}},
    {"vanderpol", 2, 40, vanderpol, {2, 0}},
    {"brusselator", 2, 20, brusselator, {1.5, 3}},
    {"figure_eight", 12, 20, figure_eight,
     {0.97000436, -0.24308753, -0.97000436, 0.24308753, 0, 0, 0.46620368, 0.43236573, 0.46620368, 0.43236573,
      -0.93240737, -0.86473146}},
    {"linear", 20, 20, linear, {0}},
    {"ball", 2, 12, ball, {10, 0}},
};

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
    int is_ball = p->flow == ball, direction = -1;
    SUNContext_Create(NULL, &s->context);
    s->y = N_VNew_Serial(p->n, s->context);
    s->memory = CVodeCreate(CV_ADAMS, s->context);
    memcpy(N_VGetArrayPointer(s->y), p->start, (size_t)p->n * sizeof(double));
    CVodeInit(s->memory, p->flow, 0, s->y);
    CVodeSStolerances(s->memory, tolerance, is_ball ? 1e-3 * tolerance : tolerance);
    CVodeSetErrHandlerFn(s->memory, quiet, NULL);
    CVodeSetMaxNumSteps(s->memory, 10000000);
    s->iteration = SUNNonlinSol_FixedPoint(s->y, 0, s->context);
    CVodeSetNonlinearSolver(s->memory, s->iteration);
    if (is_ball) {
        CVodeRootInit(s->memory, 1, floor_gap);
        CVodeSetRootDirection(s->memory, &direction);
    }
    s->problem = p;
    s->tolerance = tolerance;
    s->compile = seconds() - started;
}

/* One run; false if the solver gave up. */
static int run(Solver *s, long *steps, int *events) {
    const Problem *p = s->problem;
    double t = 0, *y = N_VGetArrayPointer(s->y);
    long count = 0;
    *steps = 0, *events = 0;
    memcpy(y, p->start, (size_t)p->n * sizeof(double));
    CVodeReInit(s->memory, 0, s->y);
    CVodeSetStopTime(s->memory, p->t_end);
    for (;;) {
        int flag = CVode(s->memory, p->t_end, s->y, &t, CV_NORMAL);
        if (flag < 0) return 0;
        CVodeGetNumSteps(s->memory, &count);
        *steps += count;
        if (flag != CV_ROOT_RETURN) return 1;
        y[0] = 0;
        y[1] *= -0.8;
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

static void answer(Solver *s, const char *name, double tolerance, int repeat) {
    const Problem *p = find(name);
    if (!p) {
        printf("{\"error\":\"unknown problem\"}\n");
        return;
    }
    if (s->problem != p || s->tolerance != tolerance) prepare(s, p, tolerance);
    long steps = 0;
    int events = 0, good = 1;
    double started = seconds();
    for (int i = 0; i < repeat && good; i++) good = run(s, &steps, &events);
    double cpu = seconds() - started;
    if (!good) {
        printf("{\"error\":\"the solver gave up\"}\n");
        return;
    }
    printf("{\"cpu\":%.6e,\"repeat\":%d,\"compile\":%.3e,\"steps\":%ld,\"events\":%d,\"y\":[", cpu, repeat,
           s->compile, steps, events);
    const double *y = N_VGetArrayPointer(s->y);
    for (int i = 0; i < p->n; i++) printf("%s%.17e", i ? "," : "", y[i]);
    printf("]}\n");
}

int main(void) {
    Solver solver = {0};
    char line[256], name[64];
    double tolerance;
    int repeat;
    for (int i = 0; i < 20; i++) {
        problems[4].start[i] = 1.0 / (i + 1);
        for (int j = 0; j < 20; j++)
            matrix[i][j] = ((7 * (i + 1) + 13 * (j + 1)) % 19 - (7 * (j + 1) + 13 * (i + 1)) % 19) / 20.0;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%63s %lf %d", name, &tolerance, &repeat) == 3) answer(&solver, name, tolerance, repeat);
        fflush(stdout);
    }
    release(&solver);
    return 0;
}
