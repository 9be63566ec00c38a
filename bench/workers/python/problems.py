"""The problems as Python data, for the workers and the references."""

T_END = dict(lorenz=10.0, vanderpol=40.0, brusselator=20.0, figure_eight=20.0, linear=20.0, ball=12.0)

N = 20
MATRIX = [[((7 * i + 13 * j) % 19 - (7 * j + 13 * i) % 19) / 20 for j in range(1, N + 1)] for i in range(1, N + 1)]

START = dict(
    lorenz=[1.0, 1.0, 1.0],
    vanderpol=[2.0, 0.0],
    brusselator=[1.5, 3.0],
    figure_eight=[0.97000436, -0.24308753, -0.97000436, 0.24308753, 0.0, 0.0,
                  0.46620368, 0.43236573, 0.46620368, 0.43236573, -0.93240737, -0.86473146],
    linear=[1 / i for i in range(1, N + 1)],
    ball=[10.0, 0.0],
)

GRAVITY, RESTITUTION = 9.81, 0.8
